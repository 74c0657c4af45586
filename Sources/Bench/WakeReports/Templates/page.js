// Zooming keeps the instant in the middle of the view where it is, or the one under the pointer when the wheel turns with
// Control held; the axis gets marks for what can be seen.
const rows=document.getElementById('rows'),view=document.getElementById('scroll'),axis=document.getElementById('axis');
let width=100;const end=+rows.dataset.end,margin=0.007;
function zoom(to,at){const before=rows.getBoundingClientRect().width,left=view.scrollLeft;
width=Math.min(20000,Math.max(100,to));rows.style.width=width+'%';
view.scrollLeft=(left+at)*rows.getBoundingClientRect().width/before-at;marks();}
function text(ms){const s=Math.floor(ms/1000),two=n=>String(n).padStart(2,'0');
return 'T+'+two(Math.floor(s/3600))+':'+two(Math.floor(s/60)%60)+':'+two(s%60)+(ms%1000?'.'+String(ms%1000).padStart(3,'0'):'');}
const steps=[1,2,5,10,20,50,100,200,500,1e3,2e3,5e3,1e4,15e3,3e4,6e4,12e4,3e5,6e5,9e5,18e5,36e5,72e5,108e5,216e5,432e5,864e5];
function marks(){const pixels=rows.getBoundingClientRect().width*(1-2*margin);
const step=steps.find(s=>s/end*pixels>=90)||end;let marks='';
const from=Math.max(0,Math.floor((view.scrollLeft/pixels-margin)*end/step)-5)*step;
for(let t=from,n=0;t<=end&&n<200;t+=step,n++){const x=(100*(margin+t/end*(1-2*margin)))+'%';
marks+='<line x1="'+x+'" x2="'+x+'" y1="0" y2="5"/><text x="'+x+'" y="17">'+text(t)+'</text>';}axis.innerHTML=marks;}
document.querySelectorAll('button[data-zoom]').forEach(b=>b.onclick=()=>{
const z=+b.dataset.zoom;zoom(z?width*z:100,view.clientWidth/2);});
view.addEventListener('wheel',e=>{if(!e.ctrlKey)return;e.preventDefault();
zoom(width*(e.deltaY<0?1.2:0.833),e.clientX-view.getBoundingClientRect().left);},{passive:false});
view.onscroll=marks;addEventListener('resize',marks);marks();
const filter=document.getElementById('filter');
filter.oninput=()=>{const words=filter.value.toLowerCase().split(' ').filter(w=>w);
document.querySelectorAll('#decisions tr').forEach((r,i)=>{if(i){const t=r.textContent.toLowerCase();
r.style.display=words.every(w=>t.includes(w))?'':'none';}});};
